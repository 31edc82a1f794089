/** SIP URI of a destination: a scheme and a host, without blanks, quotes or angle brackets. */
const sipUri = /^sips?:([^\s@<>"]+@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?([;?][^\s<>"]*)?$/i
const address = /^\/[^\s/?#]+\/[^\s/?#]+(\?[^\s#]*)?$/
const number = /^\+?[0-9]{1,32}$/

/** Whether a text is a `sip:` or `sips:` URI. */
export const isSipUri = (text: string): boolean => sipUri.test(text)

/**
 * Reads a phone number and removes blanks, dots, dashes and brackets. Undefined if the text is not a phone
 * number.
 */
export const readNumber = (text: string): string | undefined => {
  const plain = text.replace(/[\s().-]/g, '')
  return number.test(plain) ? plain : undefined
}

/** Whether a text is an address `/context/name`, with or without a `?channel=` query. */
export const isAddress = (text: string): boolean => address.test(text)

/** Description of the accepted destinations, for messages. */
export const destinationKinds = 'a SIP URI (sip:user@host), an address (/context/name) or a phone number'

/** Reads a destination of the verbs. Undefined if the text is none of the {@link destinationKinds}. */
export const readDestination = (text: string): string | undefined => {
  const to = text.trim()
  return isSipUri(to) || isAddress(to) ? to : readNumber(to)
}

/** Pattern of DTMF digits to send: `0-9 * # A-D`, and pauses: `w` for 0.5 s, `W` for 1 s. */
export const digitsPattern = '^[0-9*#A-DwW]+$'

/** Pattern of DTMF digits that end a collection or recording. */
export const terminatorsPattern = '^[0-9*#A-D]*$'
