import { useState } from 'react'

/**
 * For a dialog without a trigger of its own: when it closes, the focus goes back to what had it, or to the button of the
 * menu that it was chosen from. On another page, the focus is on its heading instead.
 */
export function useFocusBack(): (event: Event) => void {
  const [{ opener, path }] = useState(() => ({ opener: openerNow(), path: location.pathname }))
  return event => {
    if (location.pathname !== path) return
    event.preventDefault()
    opener?.focus()
  }
}

function openerNow(): HTMLElement | null {
  const { activeElement } = document
  const menu = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  return menu ? document.getElementById(menu) : (activeElement as HTMLElement | null)
}
