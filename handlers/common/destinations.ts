/** A SIP URI as destinations may write it: a scheme, a host, no blanks, quotes or angle brackets. */
const sipUri = /^sips?:([^\s@<>"]+@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?([;?][^\s<>"]*)?$/i
const address = /^\/[^\s/?#]+\/[^\s/?#]+(\?[^\s#]*)?$/
const number = /^\+?[0-9]{1,32}$/

/** True for `sip:` and `sips:` URIs. */
export const isSipUri = (text: string): boolean => sipUri.test(text)

/** A phone number without its blanks, dots, dashes and brackets; undefined when it is none. */
export const readNumber = (text: string): string | undefined => {
  const plain = text.replace(/[\s().-]/g, '')
  return number.test(plain) ? plain : undefined
}

/** True for an address `/context/name`, with or without a `?channel=` query. */
export const isAddress = (text: string): boolean => address.test(text)

/** What {@link isSipUri}, {@link isAddress} and {@link readNumber} take, in words, for messages. */
export const destinationKinds = 'a SIP URI (sip:user@host), an address (/context/name) or a phone number'

/** A destination in the spelling of the verbs; undefined when it is none of the {@link destinationKinds}. */
export const readDestination = (text: string): string | undefined => {
  const to = text.trim()
  return isSipUri(to) || isAddress(to) ? to : readNumber(to)
}

/** Key presses and pauses that can be sent: `0-9 * # A-D`, `w` for 0.5 s, `W` for 1 s. */
export const digitsPattern = '^[0-9*#A-DwW]+$'

/** Keys that can end a collection of digits. */
export const terminatorsPattern = '^[0-9*#A-D]*$'
