"""Which paths are sensitive, and why: a table to be read and argued with.

A path is written as in `.gitignore`, but simpler. Starting with `/` it is anchored at the root,
with `~/` at a home directory; else it is found at any depth. `X/**` is X and everything below it,
anything else only that path. `*` stays within one name. Names compare as on the most forgiving file
system. `but` lists what an entry leaves alone.

`does` completes the sentence "`PATH` ...". What is listed is what would run code later, loosen a
guard, or give away a secret. What a project is made of, and what builds it (sources, Makefile,
package.json, pyproject.toml, conftest.py), is not: it runs only when somebody runs it.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["READS", "STANDARD_DEVICES", "WRITES", "SensitivePaths"]


class SensitivePaths(Struct, frozen=True):
    """One entry: what the paths do, which they are, and which of them are harmless."""

    does: str
    paths: tuple[str, ...]
    but: tuple[str, ...] = ()


STANDARD_DEVICES = frozenset(
    f"/dev/{name}"
    for name in (
        *("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr"),
        *("fd/0", "fd/1", "fd/2"),
    )
)
"""Devices that everyone writes to and reads from."""

_CONNECTIONS = SensitivePaths(
    "is a network connection to gawk", ("/inet/**", "/inet4/**", "/inet6/**")
)

_SHARED_MEMORY = ("/dev/shm/**", "/dev/mqueue/**")  # noqa: S108 - a table, nothing is opened

_DOTENV = SensitivePaths(
    "holds secrets of the program it configures",
    (".env", ".env.*", ".env-*", ".env_*", ".env~"),
    (
        *("*.example", "*.sample", "*.template", "*.dist", "*.tpl"),
        *(".env-example", ".env-sample", ".env-template"),
        *(".env_example", ".env_sample", ".env_template"),
    ),
)

_TOKENS = SensitivePaths(
    "holds passwords or tokens",
    (
        *(".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass", ".my.cnf"),
        *(".mylogin.cnf", ".htpasswd", ".vault-token", ".boto", ".s3cfg", ".dockercfg"),
        *(".terraformrc", ".rclone.conf", ".databrickscfg", ".erlang.cookie", ".claude.json"),
        *(".docker/config.json", ".config/containers/auth.json", ".composer/auth.json"),
        *(".config/composer/auth.json", ".aws/credentials", ".aws/sso/**", ".aws/cli/cache/**"),
        *(".kube/config", "~/.azure/**", ".config/gcloud/**", ".oci/**", ".config/gh/**"),
        ".config/git/credentials",
        *(".config/hub", ".config/glab-cli/**", ".config/rclone/**", ".config/doctl/**"),
        *(".config/hcloud/**", ".config/stripe/**", ".fly/config.yml", "~/.netlify/**"),
        *(".terraform.d/credentials.tfrc.json", ".cargo/credentials", ".cargo/credentials.toml"),
        *(".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml"),
        *("~/.gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".dbt/profiles.yml"),
        *(".huggingface/token", ".cache/huggingface/token", ".kaggle/kaggle.json"),
        *(".snowflake/**", ".snowsql/**", ".streamlit/secrets.toml", ".microsoft/usersecrets/**"),
        *(".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"),
        *(".config/github-copilot/**", "credentials.json", "client_secret*.json"),
        *("service-account*.json", "service_account*.json", ".secrets"),
        *("application_default_credentials.json", "secrets.yml", "secrets.yaml", "secrets.json"),
    ),
)

_VAULTS = SensitivePaths(
    "holds stored passwords, cookies or keys of a person",
    (
        *(".password-store/**", ".local/share/keyrings/**", ".gnome2/keyrings/**"),
        *("~/Library/Keychains/**", "~/Library/Cookies/**", "*.kdbx"),
        *(".config/op/**", ".config/1Password/**", ".config/Bitwarden/**"),
        *(".mozilla/**", ".thunderbird/**", ".config/google-chrome/**", ".config/chromium/**"),
        *(".config/BraveSoftware/**", ".config/microsoft-edge/**", ".config/vivaldi/**"),
        *(".config/opera/**", "~/snap/firefox/**", "~/snap/chromium/**"),
        *(
            "~/Library/Application Support/Google/Chrome/**",
            "~/Library/Application Support/Firefox/**",
        ),
        "~/Library/Application Support/BraveSoftware/**",
        *("cookies.sqlite", "logins.json", "key3.db", "key4.db", "Login Data"),
        *(".bitcoin/**", ".ethereum/keystore/**", ".electrum/**", ".config/solana/id.json"),
        *(".config/sops/**", ".config/age/**", "~/.age/**"),
    ),
)

_PRIVATE_KEYS = SensitivePaths(
    "looks like a private key",
    (
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"),
        *("*_rsa", "*_ed25519", "*_ecdsa", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx"),
        *("*.ppk", "*.jks", "*.keystore", "*.keytab", "*.ovpn", "secring.gpg"),
    ),
    (
        *("*cert*.pem", "*chain*.pem", "*public*.pem", "*pub.pem", "*crt.pem", "*csr.pem"),
        *("ca.pem", "*-ca.pem", "*_ca.pem", "ca-bundle.pem", "dhparam*.pem"),
        *("*public*.key", "*.pub.key"),
    ),
)

WRITES = (
    SensitivePaths(
        "runs whenever a shell starts",
        (
            *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"),
            *(".bash_functions", ".bash_completion", ".profile", ".zshrc", ".zprofile", ".zshenv"),
            *(".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout"),
            *(".xonshrc", ".inputrc", "config.fish", "Microsoft.PowerShell_profile.ps1"),
            *(".bashrc.d/**", ".oh-my-zsh/**", ".config/fish/**", ".config/nushell/**"),
            *(".config/xonsh/**", ".config/elvish/**", ".config/powershell/**", ".config/zsh/**"),
        ),
    ),
    SensitivePaths(
        "runs whenever a shell enters its directory",
        (".envrc", ".direnvrc", ".config/direnv/**"),
    ),
    SensitivePaths(
        "takes part in every login or desktop session",
        (
            *(".pam_environment", ".config/environment.d/**", ".xprofile", ".xinitrc"),
            *(".xsession", ".xsessionrc", ".config/autostart/**", ".config/autostart-scripts/**"),
            *(".config/plasma-workspace/**", ".config/systemd/**", ".local/share/systemd/**"),
            *(".local/share/applications/**", ".local/share/dbus-1/**", ".config/i3/**"),
            *(".config/sway/**", ".config/hypr/**", ".config/openbox/**", ".config/awesome/**"),
            *(".config/bspwm/**", ".config/sxhkd/**", "~/Library/LaunchAgents/**"),
        ),
    ),
    SensitivePaths(
        "runs whenever its program starts",
        (
            *(".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim/**"),
            *(".config/nvim/**", ".emacs", ".emacs.d/**", ".config/emacs/**", ".dir-locals.el"),
            *(".tmux.conf", ".config/tmux/**", ".screenrc", ".lesskey", ".lessfilter", ".mailcap"),
            *(".procmailrc", ".forward", ".asdfrc", ".gdbinit", ".lldbinit", ".config/gdb/**"),
            *(".pdbrc", ".pythonrc", ".pythonrc.py", ".ipython/**", ".jupyter/**", ".Rprofile"),
            *(".irbrc", ".pryrc", ".psqlrc", ".sqliterc", ".ghci", ".octaverc"),
            *("sitecustomize.py", "usercustomize.py", "site-packages/*.pth"),
            "dist-packages/*.pth",
        ),
    ),
    SensitivePaths(
        "can make an editor run programs",
        (
            *(".vscode/**", ".idea/**", ".fleet/**", ".zed/**", ".devcontainer/**"),
            *(".devcontainer.json", "*.code-workspace", ".vscode-server/**"),
            *(".config/Code/User/**", ".config/Cursor/User/**", ".config/zed/**"),
            "~/Library/Application Support/Code/User/**",
        ),
    ),
    SensitivePaths(
        "is git's own, and can make git run programs",
        (
            *(".gitconfig", ".gitmodules", ".git/**", "git~1/**", ".config/git/**"),
            *(".git/config", ".git/hooks/*"),
        ),
    ),
    SensitivePaths(
        "can make version control run programs",
        (
            *(".hgrc", ".hg/**", ".svn/**", ".bzr/**", ".jj/**", ".githooks/**", ".husky/**"),
            *(".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook/**"),
        ),
    ),
    SensitivePaths(
        "decides what agents may do, or what they run",
        (
            *(
                ".mcp.json",
                "mcp.lock",
                ".claude/**",
                ".claude.json",
                ".cursor/**",
                ".codex/**",
                ".gemini/**",
            ),
            *(".windsurf/**", ".continue/**", ".kiro/**", ".roo/**", ".aider.conf.yml"),
            *(".agentscope-like/**", ".config/agentscope-like/**"),
            *(".local/share/agentscope-like/**", ".local/state/agentscope-like/**"),
            "~/Library/Application Support/agentscope-like/**",
        ),
    ),
    SensitivePaths(
        "runs in continuous integration, with its secrets",
        (
            *(".github/workflows/**", ".github/actions/**", ".gitlab-ci.yml", ".gitlab/ci/**"),
            *("Jenkinsfile", ".circleci/**", ".travis.yml", "azure-pipelines.yml"),
            *(".azure-pipelines/**", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml"),
            *(".woodpecker/**", ".buildkite/**", "appveyor.yml", ".appveyor.yml"),
            *(".forgejo/workflows/**", ".gitea/workflows/**", "cloudbuild.yaml", "cloudbuild.yml"),
            *(".teamcity/**", ".cirrus.yml", ".semaphore/**", "buildspec.yml"),
        ),
    ),
    SensitivePaths(
        "decides where packages and downloads come from",
        (
            *(".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pip.conf", "pip.ini", ".condarc"),
            *(".gemrc", ".curlrc", ".wgetrc", ".bundle/config", "~/.cargo/config"),
            *("~/.cargo/config.toml", ".config/pip/**", ".config/uv/**", ".gradle/init.d/**"),
            *(
                ".gradle/init.gradle",
                "~/.docker/**",
                "~/.kube/**",
                "~/.aws/**",
                ".aws/config",
                "~/.terraform.d/**",
            ),
        ),
    ),
    SensitivePaths(
        "holds programs that are run by their name alone",
        (
            *("~/bin/**", "~/.local/bin/**", "~/.local/lib/**", "~/go/bin/**", ".cargo/bin/**"),
            *(".rustup/**", ".deno/bin/**", ".bun/bin/**", ".pyenv/shims/**", ".rbenv/shims/**"),
            *(".asdf/**", "~/.nvm/**", ".local/share/mise/**", ".npm-global/**"),
        ),
    ),
    SensitivePaths(
        "decides who may log in, and as whom",
        (".ssh/**", "authorized_keys", "authorized_keys2", ".rhosts", ".shosts", ".k5login"),
    ),
    SensitivePaths("holds a person's keys and whom they trust", (".gnupg/**",)),
    _DOTENV,
    _TOKENS,
    _VAULTS,
    SensitivePaths(
        "belongs to the system",
        (
            *("/etc/**", "/boot/**", "/efi/**", "/bin/**", "/sbin/**", "/lib/**", "/lib32/**"),
            *("/lib64/**", "/libx32/**", "/usr/**", "/run/**", "/var/run/**", "/var/lib/**"),
            *("/var/spool/**", "/var/db/**", "/private/etc/**", "/private/var/db/**", "/System/**"),
            *("/Library/**", "/Applications/**", "/opt/homebrew/**", "/nix/store/**"),
        ),
        ("/usr/src/**",),
    ),
    SensitivePaths("is a device", ("/dev/**",), _SHARED_MEMORY),
    SensitivePaths("reaches into the kernel and other processes", ("/proc/**", "/sys/**")),
)
"""What it takes a person to agree to before it is written, replaced or removed."""

READS = (
    _PRIVATE_KEYS,
    SensitivePaths(
        "holds the keys with which a person logs in",
        (".ssh/**",),
        ("*.pub", "config", "config.d/**", "known_hosts*", "authorized_keys*"),
    ),
    SensitivePaths(
        "holds a person's private keys",
        (".gnupg/**",),
        ("*.conf", "pubring.*", "trustdb.gpg"),
    ),
    _DOTENV,
    _TOKENS,
    _VAULTS,
    SensitivePaths(
        "often holds passwords that were typed at a prompt",
        (
            *(".bash_history", ".zsh_history", ".histfile", ".sh_history", ".python_history"),
            *(".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history"),
            *(".rediscli_history", ".irb_history", ".local/share/fish/fish_history"),
        ),
    ),
    SensitivePaths(
        "holds secrets of the system",
        (
            *("/etc/shadow*", "/etc/gshadow*", "/etc/security/opasswd", "/etc/ssl/private/**"),
            *("/etc/ssh/ssh_host_*_key", "/etc/NetworkManager/system-connections/**"),
            *("/etc/wireguard/**", "/etc/krb5.keytab", "/etc/ppp/*-secrets", "/etc/kubernetes/**"),
            *("/etc/rancher/**", "/run/secrets/**", "/var/run/secrets/**", "/var/lib/kubelet/**"),
            *("/private/etc/master.passwd", "/etc/master.passwd", "/var/db/dslocal/**"),
            "/private/var/db/dslocal/**",
        ),
    ),
    SensitivePaths(
        "shows the memory, environment or files of a process",
        (
            *("/proc/*/environ", "/proc/*/mem", "/proc/*/fd/*", "/proc/*/root/**"),
            *("/proc/*/task/*/environ", "/proc/*/task/*/mem", "/proc/*/task/*/fd/*"),
            *("/proc/*/task/*/root/**", "/proc/*/map_files/**"),
            "/proc/kcore",
        ),
    ),
    SensitivePaths("is a device", ("/dev/**",), _SHARED_MEMORY),
    _CONNECTIONS,
)
"""What it takes a person to agree to before it is read."""
