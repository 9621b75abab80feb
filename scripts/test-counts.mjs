// Prints "<passed> <failed>" of one run of the tests: test-counts.mjs <results> may-skip|all <exit code>
import { readFileSync } from 'node:fs'

const [file, skipping, exitCode] = process.argv.slice(2)
let counts = { passed: 0, failed: 1 }
try {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(file, 'utf8'))
  const failed = numFailedTests + (skipping === 'all' ? numPendingTests : 0)
  // A file that could not be loaded, or an error outside of every test, fails the run without failing a test.
  counts = { passed: numPassedTests, failed: failed === 0 && exitCode !== '0' ? 1 : failed }
} catch {
  console.error(`There are no results in ${file}.`)
}
console.log(`${counts.passed} ${counts.failed}`)
