import type { TeamFile } from '../../domain/records/team-file.ts'

/** What the person of the sample wishes for. */
export const SAMPLE_GOAL = 'Build a small ship: a keel, a mast and sails. Paint it before you show it to me.'

type SampleMember = Pick<TeamFile['members'][number], 'handle' | 'role' | 'works_for' | 'charter'>

/** Tools of each script: `ask` calls the fleet, `id` takes the id out of an answer, `field` one out of a message. */
const tools = (fleet: string): string => `ask() { ${fleet} call "$@"; }
id() { grep -m1 '"id"' | cut -d'"' -f4; }
field() { printf %s "$message" | sed 's/.*"'"$1"'":"\\([^"]*\\)".*/\\1/'; }
reply() { ask reply_mail "{\\"mail_id\\": \\"$1\\", \\"body\\": \\"$2\\"}" > "$FLEET_TASK_DIR/answer"; }
write() { ask send_mail "{\\"to\\": \\"$1\\", \\"needs\\": \\"$2\\", \\"body\\": \\"$3\\"}" > "$FLEET_TASK_DIR/answer"; }
task() { ask create_team_task "$1" | id; }
title() { sed -n 's/^## Task: //p' "$FLEET_PROMPT_FILE" | tail -n 1; }
`

const CAPTAIN = `# The lead divides the goal into tasks, has the result reviewed, and tells the person.
while read -r message; do
  echo "$(field from) writes: $(field body)"
  case "$(field from) $(field body)" in
    'rex APPROVED'*)
      reply "$(field id)" 'Thank you.'
      reply "$(cat "$FLEET_TASK_DIR/goal")" 'Your ship is built, painted and reviewed: ship.txt on main.' ;;
    rex*)
      paint=$(task '{"title": "Paint and assemble the ship", "agent": "ben"}')
      task "{\\"title\\": \\"Review the ship again\\", \\"agent\\": \\"rex\\", \\"mission_type\\": \\"review\\", \\"blocked_by\\": [\\"$paint\\"]}"
      reply "$(field id)" 'You are right. Ben paints it, then look again.' ;;
    *)
      field id > "$FLEET_TASK_DIR/goal"
      keel=$(task '{"title": "Lay the keel", "agent": "ann"}')
      mast=$(task "{\\"title\\": \\"Step the mast\\", \\"agent\\": \\"ben\\", \\"blocked_by\\": [\\"$keel\\"]}")
      sails=$(task "{\\"title\\": \\"Sew the sails\\", \\"agent\\": \\"ann\\", \\"blocked_by\\": [\\"$keel\\"]}")
      task "{\\"title\\": \\"Review the ship\\", \\"agent\\": \\"rex\\", \\"mission_type\\": \\"review\\", \\"blocked_by\\": [\\"$mast\\", \\"$sails\\"]}" ;;
  esac
done < "$FLEET_MAIL_FILE"
`

const WORKER = `# A worker answers its mail, and does its task.
while read -r message; do
  echo "$(field from) writes: $(field body)"
  reply "$(field id)" 'I leave room at the mast.'
done < "$FLEET_MAIL_FILE"
[ -n "$FLEET_TEAM_TASK" ] || exit 0
mkdir -p parts
case $(title) in
  'Lay the keel') printf '  \\\\____________/\\n' > parts/3-keel.txt ;;
  'Step the mast') printf '        |\\n' > parts/1-mast.txt ;;
  'Sew the sails')
    printf '       /|\\\\\\n      /_|_\\\\\\n' > parts/2-sails.txt
    write ben reply 'I sewed two sails. Is there room for them?' ;;
  'Paint and assemble the ship')
    echo 'colour: blue' > ship.txt
    cat parts/*.txt >> ship.txt
    cat ship.txt ;;
esac
printf '{"summary": "Done: %s."}' "$(title)" > "$FLEET_RESULT_FILE"
`

const REVIEWER = `# The reviewer reads what landed, changes nothing, and tells the lead.
[ -n "$FLEET_TEAM_TASK" ] || exit 0
cat ship.txt
if grep -q '^colour: blue' ship.txt && [ "$(wc -l < ship.txt)" -eq 5 ]; then
  verdict='APPROVED'
else
  verdict='The parts are good, but the hull has no colour, and nobody put them together.'
fi
write captain reply "$verdict"
printf '{"summary": "%s"}' "$verdict" > "$FLEET_RESULT_FILE"
`

/** Four scripts that work as a team: a lead, two workers and a reviewer. `fleet` is how a shell starts the fleet. */
export const sampleTeam = (fleet: string): SampleMember[] =>
  [
    { handle: 'captain', role: 'team-lead' as const, charter: CAPTAIN },
    { handle: 'ann', role: 'worker' as const, works_for: 'captain', charter: WORKER },
    { handle: 'ben', role: 'worker' as const, works_for: 'captain', charter: WORKER },
    { handle: 'rex', role: 'worker' as const, works_for: 'captain', charter: REVIEWER },
  ].map(member => ({ ...member, charter: `${tools(fleet)}\n${member.charter}` }))
