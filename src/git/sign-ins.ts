/**
 * Removes the part of an address before its host that signs in. A user name for SSH keys stays: `git@host:path`,
 * `ssh://git@host`.
 */
export const withoutSignIn = (text: string): string =>
  text
    .replace(/([a-z][\w+.-]*:\/\/)([^/\s"']*)@/gi, (whole, scheme: string, who: string) => {
      const [name, ...password] = who.split(':')
      if (!/ssh/i.test(scheme)) return scheme
      return password.length ? `${scheme}${name}@` : whole
    })
    .replace(/^[^\s/:@]+:[^\s/]+@(?=[^\s/:@]+:)/, '')

const NAMES = /(token|pass|password|passwd|passphrase|secret|apikey|cookie|cookiefile|extraheader)$/

/** Whether a setting signs in, by its name or by an address in it. Keys are as git prints them. */
export const isSignIn = (key: string, value: string): boolean =>
  NAMES.test(key) || withoutSignIn(value) !== value || keyWithoutSignIn(key) !== key

/** The middle of a key may be an address. */
export function keyWithoutSignIn(key: string): string {
  const [first, last] = [key.indexOf('.') + 1, key.lastIndexOf('.')]
  return last < first ? key : key.slice(0, first) + withoutSignIn(key.slice(first, last)) + key.slice(last)
}

/** Sections about files, commits and branches. In others a person may keep anything. */
const TOLD =
  /^(advice|am|apply|author|blame|branch|checkout|clean|color|column|commit|committer|core|diff|feature|fetch|filter|format|gpg|grep|http|i18n|index|init|lfs|log|merge|notes|pack|pull|push|rebase|remote|rerere|revert|stash|status|submodule|tag|transfer|url|user|versionsort)\./

/** The part of a person's settings that is visible in the sandbox. */
export const withoutSignIns = <S extends { key: string; value: string }>(settings: readonly S[]): S[] =>
  settings
    .filter(({ key }) => TOLD.test(key) && !NAMES.test(key))
    .map(setting => ({ ...setting, key: keyWithoutSignIn(setting.key), value: withoutSignIn(setting.value) }))
