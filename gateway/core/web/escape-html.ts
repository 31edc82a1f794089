const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns a text for the content or a quoted attribute of an element of HTML or SVG. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (each) => entities[each]!)
