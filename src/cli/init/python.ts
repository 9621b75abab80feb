import type { Listing, Part } from './listing.ts'

const SIGNS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'pytest.ini', 'tox.ini']

interface Manager {
  /** A prefix for commands, so that they find the installed packages. */
  run: string
  setup: string
  because: string
}

export function ofPython(listing: Listing): Part | undefined {
  const sign = SIGNS.find(name => listing.names.includes(name))
  if (!sign) return undefined
  const { run, setup, because } = managerOf(listing, sign)
  const project = listing.texts['pyproject.toml'] ?? ''
  const checks = [
    ...(/^\[tool\.ruff/m.test(project) ? [{ name: 'lint', command: `${run}ruff check .` }] : []),
    ...(usesPytest(listing) ? [{ name: 'test', command: `${run}pytest` }] : []),
  ]
  return { setup: checks.length ? setup : '', checks, because }
}

function managerOf({ names, texts, ignores }: Listing, sign: string): Manager {
  const project = texts['pyproject.toml'] ?? ''
  if (names.includes('uv.lock')) return { run: 'uv run ', setup: 'uv sync --frozen', because: 'uv.lock' }
  if (names.includes('poetry.lock') || /^\[tool\.poetry/m.test(project))
    return { run: 'poetry run ', setup: 'poetry install --no-interaction', because: 'poetry' }
  const requirements = ['requirements.txt', 'requirements-dev.txt'].filter(name => names.includes(name))
  // An environment that git does not ignore would be committed with the work.
  if (requirements.length && ignores.includes('.venv'))
    return {
      run: '.venv/bin/python -m ',
      setup: `python3 -m venv .venv && .venv/bin/pip install --quiet ${requirements.map(name => `-r ${name}`).join(' ')}`,
      because: requirements.join(' and '),
    }
  return { run: 'python3 -m ', setup: '', because: sign }
}

const usesPytest = ({ names, texts }: Listing): boolean =>
  names.includes('pytest.ini') ||
  names.includes('conftest.py') ||
  ['pyproject.toml', 'requirements.txt', 'requirements-dev.txt'].some(name => /\bpytest\b/.test(texts[name] ?? ''))
