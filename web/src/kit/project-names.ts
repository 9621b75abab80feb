interface Named {
  id: string
  name: string
  path: string
}

/** What each project is called, by its id; where two share a name, with the folder that tells them apart. */
export function namesOf(projects: readonly Named[]): Map<string, string> {
  const alike = Map.groupBy(projects, ({ name }) => name)
  return new Map(projects.map(({ id, name, path }) => [id, alike.get(name)!.length > 1 ? `${name} (${path})` : name]))
}
