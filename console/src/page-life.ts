/**
 * Follows the life of the page. `left` runs once when the page is closed, reloaded or left for another.
 * `back` runs if the browser then shows it again from its back/forward cache. Nothing runs after `signal` is
 * aborted.
 */
export const whenLeft = (
  page: EventTarget,
  signal: AbortSignal,
  left: () => void,
  back: () => void,
): void => {
  const leave = () => {
    page.addEventListener('pageshow', show)
    left()
  }
  const show = (event: Event) => {
    if (!(event as PageTransitionEvent).persisted) return
    page.removeEventListener('pageshow', show)
    back()
  }
  page.addEventListener('pagehide', leave, { once: true, signal })
}
