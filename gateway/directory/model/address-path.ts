/** Returns the path of an address. */
export const pathOf = ({ context, name }: { readonly context: string; readonly name: string }): string =>
  `/${context}/${name}`

/** Returns the path of a room that is named by its name at `/public/`, or by its path. */
export const roomPath = (room: string): string =>
  room.startsWith('/') ? room : pathOf({ context: 'public', name: room })

/** Returns the name of a room at `/public/`, or the path of another address. */
export const roomNameAt = (address: { readonly context: string; readonly name: string }): string =>
  address.context === 'public' ? address.name : pathOf(address)

/** Splits `/context/name`, without a query; undefined for other texts. */
export const parseAddress = (text: string): { context: string; name: string } | undefined => {
  const match = /^\/([^/?#\s]+)\/([^/?#\s]+)(?:\?.*)?$/.exec(text)
  return match?.[1] && match[2] ? { context: match[1], name: match[2] } : undefined
}
