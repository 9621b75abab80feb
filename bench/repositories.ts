import { aRepository, type TestRepository } from '../src/git/testkit.ts'

const FILES = 50

/** Repositories of fifty files. The floor is measured on the same. */
export async function repositories(count: number): Promise<TestRepository[]> {
  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, i) => [`src/part-${i % 5}/file-${i}.txt`, `This is file ${i}.\n`.repeat(20)]),
  )
  const made: TestRepository[] = []
  for (let i = 0; i < count; i++) made.push(await aRepository({ files }))
  return made
}

export async function filesOnMain(repository: TestRepository): Promise<number> {
  return (await repository.filesOn('main')).length - FILES
}
