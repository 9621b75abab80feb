import { Texts } from './texts.ts'

/** Writes changes of two texts each until it is killed. */
const texts = new Texts(process.argv[2]!)
for (let n = 1; ; n++)
  texts.change({
    sources: [1, 2].map(each => ({
      source: `missions/${n}-${each}`,
      fingerprint: String(n),
      documents: [
        {
          ...{ kind: 'mission', project_id: 'p', mission_id: `m${n}`, session_id: null, place: `${n}-${each}` },
          ...{ part: 'prompt', at: '2026-11-10T00:00:00.000Z', title: '', body: `both${n} ${'words '.repeat(200)}` },
        },
      ],
    })),
    gone: [],
    progress: { cursor: String(n), complete: false },
  })
