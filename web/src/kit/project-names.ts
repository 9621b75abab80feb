interface Named {
  id: string
  name: string
  path: string
}

/** The name of each project by its id. If two have the same name, their folders are added. */
export function namesOf(projects: readonly Named[]): Map<string, string> {
  const alike = Map.groupBy(projects, ({ name }) => name)
  return new Map(projects.map(({ id, name, path }) => [id, alike.get(name)!.length > 1 ? `${name} (${path})` : name]))
}
