/**
 * Follows the page out of sight: `left` runs once when it is closed, loaded anew or left for another, and `back` if the browser then shows
 * it as it was, from its back/forward cache. Nothing runs once `signal` is aborted before.
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
