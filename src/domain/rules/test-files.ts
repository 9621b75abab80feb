const TEST =
  /(^|\/)(tests?|specs?|__tests__|e2e)\/|\.(test|spec)\.\w+$|_(test|spec)\.\w+$|(^|\/)test_[^/]+$|Tests?\.\w+$/

/** Whether a file is there to try the others, as its place and name tell. */
export const isTest = (path: string): boolean => TEST.test(path)
