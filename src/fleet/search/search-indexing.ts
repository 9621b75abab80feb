/** What keeps the index of search up to date: `Indexing` of the daemon. */
export interface SearchIndexing {
  /**
   * Somebody searches: what the index missed while no server ran is taken in at once. Resolves when that is done, or
   * after this time. Returns whether the index has everything.
   */
  catchUp(mostMs: number): Promise<boolean>
}
