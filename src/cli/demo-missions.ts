/** Eight scripts that build a ship: one lays the keel, five work side by side, one assembles, one writes the log. */
export interface DemoMission {
  key: string
  title: string
  after: string[]
  priority?: number
  retries?: number
  script: string
}

const report = (summary: string): string => `printf '%s' '${JSON.stringify({ summary })}' > "$FLEET_RESULT_FILE"\n`

/** Gives up after half a minute, so that it never waits for ever. */
const until = (condition: string): string =>
  `n=0; until ${condition}; do n=$((n+1)); [ $n -lt 300 ] || exit 1; sleep 0.1; done\n`

/** `signals` is a folder where one script tells another how far it is. */
export function demoMissions(signals: string): DemoMission[] {
  const began = `'${signals.replaceAll("'", `'\\''`)}/white-began'`
  return [
    {
      key: 'keel',
      title: 'Lay the keel',
      after: [],
      script: `mkdir -p parts\nprintf 'colour: none\\n' > ship.txt\nprintf '  \\\\____________/\\n' > parts/3-keel.txt\necho 'the keel is laid'\n${report('The keel is laid; parts go into parts/.')}`,
    },
    {
      key: 'mast',
      title: 'Step the mast',
      after: ['keel'],
      script: `printf '        |\\n' > parts/1-mast.txt\necho 'the mast stands'\n${report('The mast stands.')}`,
    },
    {
      key: 'sails',
      title: 'Sew the sails',
      after: ['keel'],
      script: `printf '       /|\\\\\\n      /_|_\\\\\\n' > parts/2-sails.txt\necho 'the sails are sewn'\n${report('Two sails are sewn.')}`,
    },
    {
      key: 'rudder',
      title: 'Hang the rudder (fails at first, then is tried again)',
      after: ['keel'],
      retries: 1,
      script: `if [ "$FLEET_REASON" = first ]; then echo 'the bolts do not fit' >&2; exit 1; fi\nprintf '   rudder: hung at the second try\\n' > parts/4-rudder.txt\necho 'now they do'\n${report('The rudder hangs; the first bolts did not fit.')}`,
    },
    {
      key: 'blue',
      title: 'Paint the hull blue',
      after: ['keel'],
      script: `${until(`[ -e ${began} ]`)}printf 'colour: blue\\n' > ship.txt\necho 'painted blue'\n${report('The hull is blue.')}`,
    },
    {
      key: 'white',
      title: 'Paint the hull white (meets the blue one: a conflict)',
      after: ['keel'],
      priority: 10,
      script: `if [ "$FLEET_REASON" = conflict ]; then\n  printf 'colour: blue with a white stripe\\n' > ship.txt\n  echo 'settled: blue with a white stripe'\nelse\n  touch ${began}\n  ${until('git show main:ship.txt | grep -q blue')}  printf 'colour: white\\n' > ship.txt\n  echo 'painted white'\nfi\n${report('The hull has a white stripe.')}`,
    },
    {
      key: 'assemble',
      title: 'Assemble the ship',
      after: ['mast', 'sails', 'rudder', 'blue', 'white'],
      script: `cat parts/*.txt >> ship.txt\n[ "$(ls parts | wc -l)" -eq 4 ]\ncat ship.txt\n${report('All parts are in ship.txt.')}`,
    },
    {
      key: 'log',
      title: "Write the ship's log",
      after: ['assemble'],
      script: `{ echo '# Log'; git log --reverse --format='- %s' main; } > LOG.md\necho "$(grep -c '^-' LOG.md) entries"\n${report('The log is written.')}`,
    },
  ]
}
