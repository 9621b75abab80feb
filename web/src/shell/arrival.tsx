import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'

const LOOK_MS = 50
const MOST_LOOKS = 100

/**
 * After a navigation, the focus moves to the heading of the new page, and its title is said: as with a new document. A
 * field of the page that took the focus keeps it.
 */
export function Arrival() {
  const [location] = useLocation()
  const [title, setTitle] = useState('')
  const before = useRef(location)
  useEffect(() => {
    if (before.current === location) return
    before.current = location
    let looks = 0
    // While the view loads, the old one is still there, hidden. A dialog that closes gives the focus back a moment later.
    const timer = setInterval(() => {
      const main = document.getElementById('main')
      const heading = main?.querySelector('h1')
      if (++looks >= MOST_LOOKS) clearInterval(timer)
      if (!main || !heading?.checkVisibility() || document.querySelector('[role="dialog"]')) return
      clearInterval(timer)
      setTitle(heading.textContent ?? '')
      if (document.activeElement !== main && main.contains(document.activeElement)) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [location])
  return (
    <div className="visually-hidden" role="status" aria-label="Page">
      {title}
    </div>
  )
}
