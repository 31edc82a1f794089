/** Returns the path of an address. */
export const pathOf = ({ context, name }: { readonly context: string; readonly name: string }): string =>
  `/${context}/${name}`

/** Splits `/context/name`, without a query; undefined for other texts. */
export const parseAddress = (text: string): { context: string; name: string } | undefined => {
  const match = /^\/([^/?#\s]+)\/([^/?#\s]+)(?:\?.*)?$/.exec(text)
  return match?.[1] && match[2] ? { context: match[1], name: match[2] } : undefined
}
