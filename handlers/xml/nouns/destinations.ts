import { readCodecs } from '../../common/codecs.ts'
import { isAddress, isSipUri, readNumber } from '../../common/destinations.ts'
import { apiVersion } from '../../common/forms.ts'
import { hasControlCharacter, percentDecode, readHeader, withXPrefix } from '../../common/headers.ts'
import type { Destination, Header } from '../../verbs.ts'
import { readDigits } from '../digits.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { calleeAttributes, readCallee } from './callee.ts'
import type { MakeDestination, Noun } from './noun.ts'
import { parameter, readParameters } from './parameter.ts'

/** Noun `Number`: a phone number, called by the default carrier. */
export const number: Noun = {
  name: 'Number',
  attributes: [...calleeAttributes, 'sendDigits'],
  read: (reader) => {
    const common = readCallee(reader)
    const sendDigits = readDigits(reader, 'sendDigits')
    const to = readPhoneNumber(reader)
    return to === undefined
      ? undefined
      : (context) => ({ to, ...common(context, to), ...(sendDigits && { sendDigits }) })
  },
}

/** Reads the phone number in the element's text. Undefined, after a warning, if it is not a phone number. */
export const readPhoneNumber = (reader: ElementReader): string | undefined => {
  const text = reader.content()
  const to = readNumber(text)
  if (to === undefined)
    reader.warning(codes.number, `${JSON.stringify(text)} is not a phone number; it is not called.`)
  return to
}

const identity = { name: 'Identity', attributes: [] } as const

/** Maximum length of the parameters of one `Client`, as JSON, in characters. */
const maxVariablesLength = 2_048

const readVariables = (reader: ElementReader): Destination['userVariables'] => {
  const variables = readParameters(reader)
  if (Object.keys(variables).length === 0) return undefined
  if (JSON.stringify(variables).length <= maxVariablesLength) return variables
  reader.warning(
    codes.schema,
    `The parameters of Client have more than ${maxVariablesLength} characters; none is sent.`,
  )
  return undefined
}

/** Noun `Client`: an address `/context/name`, or a `name` that means `/public/name`. */
export const client: Noun = {
  name: 'Client',
  attributes: calleeAttributes,
  children: [identity, parameter],
  read: (reader) => {
    const common = readCallee(reader)
    const userVariables = readVariables(reader)
    const [named] = reader.nestedOf([identity])
    const text = (named?.reader ?? reader).content()
    const to = text.startsWith('/') ? text : `/public/${text}`
    if (isAddress(to))
      return (context) => ({ to, ...(userVariables && { userVariables }), ...common(context, to) })
    reader.warning(
      codes.schema,
      `Client needs a name or an address /context/name, not ${JSON.stringify(text)}; it is not called.`,
    )
    return undefined
  },
}

/**
 * Noun `Verto`: `name@host` means the address `/public/name` if the host is the gateway's, with or without a
 * label `verto`.
 */
export const verto: Noun = {
  name: 'Verto',
  attributes: [],
  read: (reader) => {
    const text = reader.content().replace(/^(sip|verto):/i, '')
    const [, name = '', host = ''] = /^([^@]+)@([A-Za-z0-9.-]+)$/.exec(text) ?? []
    const to = `/public/${name}`
    if (!host || !isAddress(to)) {
      reader.warning(codes.schema, `Verto needs name@host, not ${JSON.stringify(text)}; it is not called.`)
      return undefined
    }
    return (context) => {
      if (hostNames(host).some((each) => context.handler.isOwnHost(each))) return { to }
      context.warn(
        codes.schema,
        `Verto calls browsers of this gateway only, and ${host} is not one of its names.`,
      )
      return undefined
    }
  },
}

/** Returns the host name, and the host name without the label `verto`. */
const hostNames = (host: string): readonly string[] => {
  const name = host.toLowerCase()
  return [name, name.replace(/(^|\.)verto\./, '$1')]
}

/**
 * Headers of the INVITE with the ids of the callee's call and of the project. A document cannot override
 * them.
 */
const idHeaders = (callId: string, projectId: string): readonly Header[] => [
  { name: 'X-CallSid', value: callId },
  { name: 'X-AccountSid', value: projectId },
  { name: 'X-ApiVersion', value: apiVersion },
]
const idNames = idHeaders('', '').map(({ name }) => name.toLowerCase())

/**
 * Noun `Sip`: a SIP URI. Its header part, after `?`, becomes headers of the INVITE (RFC 3261 section 19.1.1)
 * with the prefix `X-`. User-to-User keeps its name (RFC 7433).
 */
export const sip: Noun = {
  name: 'Sip',
  attributes: [...calleeAttributes, 'username', 'password', 'codecs', 'sessionTimeout'],
  read: (reader) => {
    const username = reader.text('username')
    const password = reader.text('password')
    const codecs = readCodecList(reader)
    const sessionTimerSeconds = reader.integer('sessionTimeout', 90, 86_400, undefined)
    const common = readCallee(reader)
    const place = readSipUri(reader)
    if (!place) return undefined
    const destination = {
      ...place,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(codecs && { codecs }),
      ...(sessionTimerSeconds !== undefined && { sessionTimerSeconds }),
    }
    return (context) => ({
      ...destination,
      headersFor: (callId) => idHeaders(callId, context.call.info.projectId),
      ...common(context, place.to),
    })
  },
}

const readCodecList = (reader: ElementReader) => {
  const text = reader.text('codecs')
  if (text === undefined) return undefined
  const codecs = readCodecs(text)
  if (codecs.length > 0) return codecs
  reader.warning(
    codes.codecs,
    'The attribute codecs contains no known codec; all codecs are offered.',
    'codecs',
  )
  return undefined
}

const readSipUri = (reader: ElementReader): { to: string; headers?: readonly Header[] } | undefined => {
  const content = reader.content()
  const to = content.split('?', 1)[0] ?? ''
  if (!isSipUri(to)) {
    reader.warning(codes.sipUri, 'Sip needs a SIP URI such as sip:user@example.com; it is not called.')
    return undefined
  }
  try {
    const query = withUserToUser(reader, queryOf(content.slice(to.length + 1)))
    const headers = withoutIds(reader, query.map(headerOf))
    return { to, ...(headers.length > 0 && { headers }) }
  } catch (error) {
    reader.warning(codes.sipUri, `The SIP URI ${(error as Error).message}; it is not called.`)
    return undefined
  }
}

const withoutIds = (reader: ElementReader, headers: readonly Header[]): readonly Header[] => {
  const others = headers.filter(({ name }) => !idNames.includes(name.toLowerCase()))
  if (others.length < headers.length)
    reader.warning(codes.sipUri, 'The SIP URI sets a header of the gateway; that header has no effect.')
  return others
}

const queryOf = (query: string): readonly Header[] =>
  query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return { name: percentDecode(name), value: percentDecode(value.join('=')) }
    })

const isUserToUser = ({ name }: Header): boolean => /^user-to-user$/i.test(name)

/** Value of User-to-User with its parameters (RFC 7433 section 4.1). */
const userToUserForm =
  /^(?:[\w.!%*+`'~-]+|"(?:[^"\\]|\\.)*")(?:;[\w.!%*+`'~-]+(?:=(?:[\w.!%*+`'~-]+|"(?:[^"\\]|\\.)*"))?)*$/

/** Returns the headers without an invalid User-to-User, which causes a warning. */
const withUserToUser = (reader: ElementReader, headers: readonly Header[]): readonly Header[] => {
  const valid = headers.filter(
    (header) =>
      !isUserToUser(header) || (userToUserForm.test(header.value) && !hasControlCharacter(header.value)),
  )
  if (valid.length < headers.length)
    reader.warning(codes.sipUri, 'User-to-User needs a token or a quoted string (RFC 7433); it is not sent.')
  return valid
}

const headerOf = (header: Header): Header =>
  readHeader(isUserToUser(header) ? 'User-to-User' : withXPrefix(header.name), header.value)

/** Reads the destination in the text of `Dial` itself: a phone number, or an address `/context/name`. */
export const bareDestination = (reader: ElementReader): MakeDestination | undefined => {
  const text = reader.content()
  const to = isAddress(text) ? text : readPhoneNumber(reader)
  return to === undefined ? undefined : () => ({ to })
}
