/**
 * Whether somebody did it: `owner`, a whole actor such as `session:s1`, or only its kind, where `person` means every
 * person.
 */
export const isBy = ({ actor }: { actor: string }, wanted: string): boolean =>
  wanted === 'owner' ? actor === 'person' : actor === wanted || actor.startsWith(`${wanted}:`)
