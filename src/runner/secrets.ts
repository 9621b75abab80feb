import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'

/** Files that sign a person in elsewhere, below their home. Folders and files are empty inside the sandbox. */
const FOLDERS = [
  // Where a terminal is signed in to fleets of other machines.
  '.config/flotilla',
  ...['.ssh', '.gnupg', '.password-store', '.pki', '.putty', '.subversion/auth'],
  ...['.aws', '.azure', '.oci', '.kube', '.minikube', '.docker', '.terraform.d', '.pulumi', '.fly', '.netlify'],
  ...['.config/gh', '.config/glab-cli', '.config/gcloud', '.config/doctl', '.config/hcloud', '.config/heroku'],
  ...[
    '.config/netlify',
    '.config/containers',
    '.config/op',
    '.config/rclone',
    '.config/sops',
    '.config/github-copilot',
  ],
  ...['.local/share/keyrings', '.local/share/kwalletd', '.local/share/com.vercel.cli', '.config/cursor'],
  // Browsers keep cookies and passwords in their profiles.
  ...['.mozilla', '.thunderbird', '.config/google-chrome', '.config/chromium', '.config/microsoft-edge'],
  ...['.config/BraveSoftware', '.config/vivaldi', 'snap/firefox', 'snap/chromium', '.var/app/org.mozilla.firefox'],
]

const FILES = [
  ...['.netrc', '.git-credentials', '.config/git/credentials', '.config/hub', '.vault-token'],
  ...[
    '.npmrc',
    '.yarnrc.yml',
    '.pypirc',
    '.pip/pip.conf',
    '.config/pip/pip.conf',
    '.gem/credentials',
    '.bundle/config',
  ],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.composer/auth.json', '.config/composer/auth.json'],
  ...['.m2/settings.xml', '.m2/settings-security.xml', '.gradle/gradle.properties', '.nuget/NuGet/NuGet.Config'],
  ...['.dockercfg', '.s3cfg', '.boto', '.terraformrc', '.databrickscfg', '.kaggle/kaggle.json'],
  ...['.pgpass', '.my.cnf', '.mylogin.cnf', '.msmtprc', '.huggingface/token', '.cache/huggingface/token'],
  ...['.bash_history', '.zsh_history', '.psql_history', '.mysql_history', '.python_history', '.node_repl_history'],
  // With the first of these a program can use the person's display, whose socket cannot be hidden.
  ...['.Xauthority', '.ICEauthority'],
]

/** Sign-ins of other agents. A client that keeps its files beside one of these sees all of that group. */
const CLIENTS = [
  ['.claude.json', '.claude/.credentials.json'],
  ['.codex/auth.json'],
  ['.gemini/oauth_creds.json', '.gemini/google_accounts.json'],
  ['.qwen/oauth_creds.json'],
  ['.local/share/opencode/auth.json'],
  ['.copilot/config.json'],
]

/** Variables that lead to sockets or sign-ins through which a program could act outside the sandbox. */
export const LEADS_OUT = [
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'],
  ...['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GPG_AGENT_INFO', 'DOCKER_HOST', 'TMUX'],
]

/** Those that exist, by their real paths, without the program's own. */
export function secretsIn(home: string, own: readonly string[]): { folders: string[]; files: string[] } {
  const isOwn = (path: string) => own.some(each => isInside(each, path) || isInside(path, each))
  const found = (names: readonly string[]) =>
    names
      .map(name => join(home, name))
      .filter(path => existsSync(path) && !isOwn(path) && !isOwn(realpathSync(path)))
      .map(path => realpathSync(path))
  const clients = CLIENTS.filter(names => {
    const folders = names.map(name => join(home, name.split('/')[0]!.replace(/\.json$/, '')))
    return !folders.some(folder => own.some(each => isInside(each, folder)))
  })
  return { folders: found(FOLDERS), files: found([...FILES, ...clients.flat()]) }
}

const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)
