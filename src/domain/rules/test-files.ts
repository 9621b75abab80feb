const TEST =
  /(^|\/)(tests?|specs?|__tests__|e2e)\/|\.(test|spec)\.\w+$|_(test|spec)\.\w+$|(^|\/)test_[^/]+$|Tests?\.\w+$/

/** Whether a file is a test, by its folder and name. */
export const isTest = (path: string): boolean => TEST.test(path)
