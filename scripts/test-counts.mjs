// Prints "<passed> <failed>" of one run of the tests, and appends the names of those that failed to a file:
// test-counts.mjs <results> may-skip|all <exit code> <file of names>
import { appendFileSync, readFileSync } from 'node:fs'

const [file, skipping, exitCode, names] = process.argv.slice(2)
let counts = { passed: 0, failed: 1 }
try {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(file, 'utf8'))
  const failed = numFailedTests + (skipping === 'all' ? numPendingTests : 0)
  // A file that could not be loaded, or an error outside of every test, fails the run without failing a test.
  counts = { passed: numPassedTests, failed: failed === 0 && exitCode !== '0' ? 1 : failed }
  const bad = skipping === 'all' ? ['failed', 'pending', 'skipped', 'todo'] : ['failed']
  for (const { name, status, message, assertionResults } of testResults) {
    const failures = assertionResults.filter(test => bad.includes(test.status))
    for (const test of failures)
      appendFileSync(names, `${name}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 2_000)}\n`)
    if (status === 'failed' && failures.length === 0) appendFileSync(names, `${name}: ${message.slice(0, 2_000)}\n`)
  }
} catch {
  console.error(`There are no results in ${file}.`)
}
console.log(`${counts.passed} ${counts.failed}`)
