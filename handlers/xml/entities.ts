const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** Decodes XML's five entities and numeric character references. Throws an error for any other entity. */
export const decodeEntities = (text: string): string =>
  text.replace(/&([^;\s&]*);?/g, (whole, name: string) => {
    const value = whole.endsWith(';') ? (named.get(name) ?? numeric(name)) : undefined
    if (value === undefined)
      throw new Error(`The entity ${whole} is unknown; a literal & must be written as &amp;.`)
    return value
  })

const numeric = (name: string): string | undefined => {
  const match = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name)
  if (!match) return undefined
  const code = match[1] ? Number.parseInt(match[1], 16) : Number(match[2])
  // XML 1.0 section 2.2 permits no control characters except tab and line breaks, and no surrogates.
  const allowed = code >= 32 || code === 9 || code === 10 || code === 13
  if (!allowed || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined
  return String.fromCodePoint(code)
}
