import { isIP } from 'node:net'
import { formats } from '../../../config/schema/formats.ts'
import type { Terminal } from '../terminal.ts'
import { nameOf } from './first-config.ts'

/** Values that the user may give as options or answers. */
export interface InitAnswers {
  readonly host: string
  readonly domain: string
  readonly carriers: readonly string[]
  readonly email: string
}

/** Options of the command that stand for answers. */
export interface InitOptions {
  readonly host: string | undefined
  readonly domain: string | undefined
  readonly carrier: readonly string[]
  readonly email: string | undefined
}

/** An option or an answer is invalid. The message says which, and the expected form. */
export class AnswerInvalid extends Error {
  override readonly name = 'AnswerInvalid'
}

type Check = (answer: string) => string | undefined

const must = (isValid: (answer: string) => boolean, expected: string): Check => {
  return (answer) => (isValid(answer) ? undefined : `must be ${expected}`)
}

const checks = {
  host: must((text) => isIP(text) !== 0, formats.ip.expected),
  domain: must(formats.host.validate, formats.host.expected),
  carrier: must((text) => formats.network.validate(text) || isIP(text) !== 0, formats.network.expected),
  email: must(
    (text) => formats.email.validate(text) && formats.name.validate(nameOf(text)),
    formats.email.expected,
  ),
} satisfies Readonly<Record<string, Check>>

/**
 * Resolves with the answers: from the options, else from the terminal, else the defaults. Throws
 * {@link AnswerInvalid} for an invalid option, and the error of the terminal if the input ends.
 */
export const collectAnswers = async (
  options: InitOptions,
  defaultHost: string,
  terminal: Pick<Terminal, 'ask'> | undefined,
): Promise<InitAnswers> => {
  checkOptions(options)
  const ask = async (question: string, preset: string, check: Check): Promise<string> => {
    if (!terminal) return preset
    for (;;) {
      const answer = (await terminal.ask(`${question}${preset === '' ? '' : ` [${preset}]`}: `)) || preset
      const fault = answer === '' ? undefined : check(answer)
      if (fault === undefined) return answer
      question = `It ${fault}. ${question.replace(/^It must.*?\. /, '')}`
    }
  }
  const host =
    options.host ??
    (await ask('IP address of this machine for phones and browsers', defaultHost, checks.host))
  const domain =
    options.domain ?? (await ask('Host that callers dial, as in sip:anyone@HOST', host, checks.domain))
  const carriers =
    options.carrier.length > 0
      ? options.carrier
      : listOf(
          await ask('Network of your carrier, such as 203.0.113.0/24 (empty: none yet)', '', checks.carrier),
        )
  const email =
    options.email ??
    (await ask('E-mail address of the first person who signs in', `admin@${mailHost(domain)}`, checks.email))
  return { host, domain, carriers: carriers.map(asNetwork), email }
}

const checkOptions = ({ host, domain, carrier, email }: InitOptions): void => {
  const given = [
    ['host', host],
    ['domain', domain],
    ['email', email],
    ...carrier.map((network) => ['carrier', network] as const),
  ] as const
  for (const [key, value] of given) {
    const fault = value === undefined ? undefined : checks[key](value)
    if (fault !== undefined) throw new AnswerInvalid(`option '--${key}' ${fault}`)
  }
}

const listOf = (answer: string): readonly string[] => (answer === '' ? [] : [answer])

/** Returns a single address as the network of this address. */
const asNetwork = (text: string): string =>
  isIP(text) === 0 ? text : `${text}/${isIP(text) === 4 ? 32 : 128}`

/** Returns the host of an e-mail address for a domain, which may be an IP address. */
const mailHost = (domain: string): string => (isIP(domain) === 0 ? domain : 'trunkline.localhost')
