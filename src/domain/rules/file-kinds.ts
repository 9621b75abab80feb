import { isTest } from './test-files.ts'

const LOCK =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|go\.sum|[^/]+\.lock)$/i
const GENERATED = /\.(min\.(js|mjs|cjs|css)|map|snap)$|\.pb\.(go|cc|h)$|_pb2(_grpc)?\.py$|\.g\.dart$|\.generated\.\w+$/i
const LOOK = /\.(css|scss|sass|less|svg|png|jpe?g|gif|webp|ico|woff2?)$/i
const PROSE = /\.(md|mdx|txt|rst|adoc)$|(^|\/)(LICENSE|CHANGELOG|README)[^/]*$/i

export const isLockFile = (path: string): boolean => LOCK.test(path)

/** Whether a program writes this file, by its name. A repository can name others with `linguist-generated`. */
export const isGenerated = (path: string): boolean => isLockFile(path) || GENERATED.test(path)

export const isProse = (path: string): boolean => PROSE.test(path)

/** A kind of file in which a mistake costs more than elsewhere. */
export interface Sensitive {
  label: string
  /** What such a file is about, to complete “It changes …”. */
  about: string
  points: number
}

interface Rule extends Sensitive {
  path?: RegExp
  /** One of the words of its path, with the parts of camelCase and snake_case as words. */
  words?: ReadonlySet<string>
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const RULES: readonly Rule[] = [
  {
    ...{ label: 'Migration', about: 'how data is stored', points: 20 },
    path: /(^|\/)(migrations?|migrate|alembic\/versions|flyway|liquibase)\/|(^|\/)schema\.(sql|prisma|rb)$|\.sql$/i,
  },
  {
    ...{ label: 'Auth', about: 'who may do what', points: 20 },
    words: words(
      'auth authn authz authentication authorization authorize login logout signin signup oauth oidc saml sso jwt password passwords credential credentials secret secrets permission permissions acl rbac csrf crypto encryption security sandbox',
    ),
  },
  {
    ...{ label: 'CI', about: 'how the project is built, checked or released', points: 16 },
    path: /^\.(github\/(workflows|actions)|circleci|buildkite|gitlab|ci)\/|(^|\/)(\.gitlab-ci\.ya?ml|\.travis\.yml|Jenkinsfile|azure-pipelines\.ya?ml|Dockerfile[^/]*|docker-compose[^/]*|CODEOWNERS)$/i,
  },
  {
    ...{ label: 'Money', about: 'what somebody pays', points: 16 },
    words: words(
      'payment payments pay billing invoice invoices checkout price prices pricing tax taxes vat refund refunds payout payouts ledger subscription subscriptions stripe paypal currency money wallet',
    ),
  },
  { ...{ label: 'Dependencies', about: 'which packages the project uses', points: 6 }, path: LOCK },
]

const wordsOf = (path: string): string[] =>
  path
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

/** Why a file needs a careful look. Undefined: no more than others. Tests, documents and styles never do. */
export function sensitivityOf(path: string): Sensitive | undefined {
  if (isTest(path) || isProse(path) || LOOK.test(path)) return undefined
  const found = RULES.find(rule => rule.path?.test(path) || wordsOf(path).some(word => rule.words?.has(word)))
  return found && { label: found.label, about: found.about, points: found.points }
}
