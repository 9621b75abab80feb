let title = 'Flotilla'
let waiting = 0

function show(): void {
  document.title = `${waiting ? `(${waiting}) ` : ''}${title}`
}

/** Sets the title of the page. What waits for the person comes first, so that a background tab shows it. */
export function setTitle(page: string): void {
  title = `${page} · Flotilla`
  show()
}

export function setWaiting(count: number): void {
  waiting = count
  show()
}
