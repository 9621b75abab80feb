// Prints "<passed> <failed>" of one run of the tests. Appends the names of those that failed to one file, and of those
// that passed only at the second try to another:
// test-counts.mjs <results> may-skip|all <exit code> <file of failures> <file of second tries> <output of the run>
import { appendFileSync, readFileSync } from 'node:fs'

const [file, skipping, exitCode, failures, secondTries, log] = process.argv.slice(2)
let counts = { passed: 0, failed: 1 }

/** Vitest reports an error outside of all tests only in its output. */
function errorsOutside() {
  const printed = readFileSync(log, 'utf8')
  const from = printed.search(/Unhandled (Errors|Rejection|Error)/)
  return (from === -1 ? printed.slice(-4_000) : printed.slice(from, from + 8_000)).trim()
}
try {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(file, 'utf8'))
  const failed = numFailedTests + (skipping === 'all' ? numPendingTests : 0)
  // A file that cannot be loaded, or an error outside of every test, fails the run without failing a test.
  counts = { passed: numPassedTests, failed: failed === 0 && exitCode !== '0' ? 1 : failed }
  const bad = skipping === 'all' ? ['failed', 'pending', 'skipped', 'todo'] : ['failed']
  for (const { name, status, message, assertionResults } of testResults) {
    const note = (list, test) =>
      appendFileSync(list, `${name}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 2_000)}\n`)
    const failed = assertionResults.filter(test => bad.includes(test.status))
    for (const test of failed) note(failures, test)
    for (const test of assertionResults)
      if (test.status === 'passed' && test.failureMessages.length > 0) note(secondTries, test)
    if (status === 'failed' && failed.length === 0) appendFileSync(failures, `${name}: ${message.slice(0, 2_000)}\n`)
  }
  if (failed === 0 && exitCode !== '0')
    appendFileSync(failures, `${log}: exit code ${exitCode}, although no test failed\n${errorsOutside()}\n`)
} catch {
  console.error(`There are no results in ${file}.`)
  appendFileSync(failures, `There are no results in ${file}\n${errorsOutside()}\n`)
}
console.log(`${counts.passed} ${counts.failed}`)
