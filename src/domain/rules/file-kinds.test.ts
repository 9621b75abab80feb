import { expect, test } from 'vitest'
import { isGenerated, sensitivityOf } from './file-kinds.ts'

test.each([
  ['db/migrations/0004_add_column.py', 'Migration'],
  ['backend/alembic/versions/abc.py', 'Migration'],
  ['schema.sql', 'Migration'],
  ['src/auth/session.ts', 'Auth'],
  ['app/Services/PasswordReset.php', 'Auth'],
  ['lib/oauth_client.rb', 'Auth'],
  ['.github/workflows/ci.yml', 'CI'],
  ['.gitlab-ci.yml', 'CI'],
  ['deploy/Dockerfile.prod', 'CI'],
  ['src/billing/invoice.ts', 'Money'],
  ['src/stripeClient.ts', 'Money'],
  ['package-lock.json', 'Dependencies'],
  ['crates/a/Cargo.lock', 'Dependencies'],
])('%s is sensitive: %s', (path, label) => {
  expect(sensitivityOf(path)?.label).toBe(label)
})

test.each([
  ...['src/shop.ts', 'src/author.ts', 'src/displayPayload.ts', 'docs/auth.md', 'src/auth/session.test.ts'],
  ...['src/immigration.ts', 'README.md', 'src/blockchain.ts', 'locksmith.js'],
])('%s is not', path => {
  expect(sensitivityOf(path)).toBeUndefined()
})

test.each(['package-lock.json', 'web/app.min.js', 'a/b.css.map', 'x.snap', 'api/v1.pb.go', 'Gemfile.lock', 'go.sum'])(
  '%s is generated',
  path => expect(isGenerated(path)).toBe(true),
)
test.each(['src/map.ts', 'minimal.js', 'locks.ts', 'lock'])('%s is written by people', path =>
  expect(isGenerated(path)).toBe(false),
)
