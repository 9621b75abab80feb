/** A mission of the sample project. */
export interface SampleMission {
  key: string
  title: string
  after: readonly string[]
  script: string
  retries?: number
  /** Start from the first commit of the repository, without what has landed since. */
  fromFirst?: boolean
  landing: 'auto' | 'review'
}

export const SAMPLE_BEGINNING = {
  subject: 'An empty dock',
  files: {
    'README.md': '# A small ship\n\nScripts of the sample project build it, one part at a time.\n',
    'ship.txt': 'colour: none\n',
  },
}

export const SAMPLE_CHECKS = [{ name: 'painted', command: "grep -q '^colour: ' ship.txt", timeout_seconds: 60 }]

const report = (summary: string): string => `printf '%s' '${JSON.stringify({ summary })}' > "$FLEET_RESULT_FILE"`
const script = (...lines: string[]): string => `${lines.join('\n')}\n`

/**
 * Eight scripts that build a ship. Together they show a mission's whole life: work side by side, a failure and its
 * retry, a conflict and how it is resolved, and a review. They are slow enough to be watched.
 */
export const SAMPLE_MISSIONS: readonly SampleMission[] = [
  {
    key: 'keel',
    title: 'Lay the keel',
    after: [],
    landing: 'auto',
    script: script(
      'mkdir -p parts',
      `printf '  \\\\____________/\\n' > parts/3-keel.txt`,
      "echo 'The keel is laid.'",
      report('The keel is laid. Parts go into parts/.'),
    ),
  },
  {
    key: 'mast',
    title: 'Step the mast',
    after: ['keel'],
    landing: 'auto',
    script: script(
      "echo 'Raising the mast…'; sleep 1",
      `printf '        |\\n' > parts/1-mast.txt`,
      "echo 'The mast stands.'",
      report('The mast stands.'),
    ),
  },
  {
    key: 'sails',
    title: 'Sew the sails',
    after: ['keel'],
    landing: 'auto',
    script: script(
      "echo 'Cutting the cloth…'; sleep 1",
      "echo 'Sewing…'; sleep 1",
      `printf '       /|\\\\\\n      /_|_\\\\\\n' > parts/2-sails.txt`,
      "echo 'Two sails are ready.'",
      report('Two sails are sewn.'),
    ),
  },
  {
    key: 'rudder',
    title: 'Hang the rudder',
    after: ['keel'],
    landing: 'auto',
    retries: 1,
    script: script(
      '# It fails at first, so that you can see a retry.',
      'if [ "$FLEET_REASON" = first ]; then',
      "  echo 'The bolts do not fit.' >&2",
      '  exit 1',
      'fi',
      `printf '   rudder: hung at the second try\\n' > parts/4-rudder.txt`,
      "echo 'Now they fit.'",
      report('The rudder hangs. The first bolts did not fit.'),
    ),
  },
  {
    key: 'blue',
    title: 'Paint the hull blue',
    after: ['keel'],
    landing: 'auto',
    script: script(
      "echo 'Painting…'; sleep 1",
      `printf 'colour: blue\\n' > ship.txt`,
      "echo 'The hull is blue.'",
      report('The hull is blue.'),
    ),
  },
  {
    key: 'white',
    title: 'Paint the hull white',
    after: ['blue'],
    landing: 'auto',
    fromFirst: true,
    script: script(
      '# It starts from a hull that nobody has painted, so it conflicts with the blue one.',
      'if [ "$FLEET_REASON" = conflict ]; then',
      `  printf 'colour: blue with a white stripe\\n' > ship.txt`,
      "  echo 'Resolved: blue with a white stripe.'",
      'else',
      `  printf 'colour: white\\n' > ship.txt`,
      "  echo 'The hull is white.'",
      'fi',
      report('The hull is blue with a white stripe.'),
    ),
  },
  {
    key: 'assemble',
    title: 'Assemble the ship',
    after: ['mast', 'sails', 'rudder', 'white'],
    landing: 'auto',
    script: script(
      'cat parts/*.txt >> ship.txt',
      '[ "$(ls parts | wc -l)" -eq 4 ]',
      'cat ship.txt',
      report('All parts are in ship.txt.'),
    ),
  },
  {
    key: 'log',
    title: "Write the ship's log",
    after: ['assemble'],
    landing: 'review',
    script: script(
      "{ echo '# Log'; echo; git log --reverse --format='- %s' main; } > LOG.md",
      `echo "$(grep -c '^-' LOG.md) entries"`,
      report('The log lists everything that landed. Look at it, then land it.'),
    ),
  },
]
