/** The fleet puts the id of a checkpoint into its subject, for agents and scripts. On the page the goal is enough. */
export const mailSubject = (subject: string): string =>
  subject.replace(/^((?:Re: )?Checkpoint) [0-9a-z]{12}(?=: )/, '$1')
