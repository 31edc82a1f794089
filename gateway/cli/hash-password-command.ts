import { text } from 'node:stream/consumers'
import { Passwords } from '../directory/writing/passwords.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { invalid } from './with-config.ts'

/** Minimum length of a subscriber's password, the same as in the schema of the configuration. */
const minLength = 8

/** Sources of a password. */
export interface PasswordSource {
  /** Undefined if the standard input is no terminal. */
  readonly terminal: Pick<Terminal, 'askSecret'> | undefined
  readonly input: NodeJS.ReadableStream
}

/**
 * `trunkline hash-password`: reads a password, and prints its hash for the configuration. Returns the exit
 * code: 2 if the password is invalid.
 */
export const printPasswordHash = async (
  { terminal, input }: PasswordSource = {
    terminal: process.stdin.isTTY ? openTerminal() : undefined,
    input: process.stdin,
  },
): Promise<number> => {
  const password = terminal ? await terminal.askSecret('Password: ') : firstLine(await text(input))
  if (password.length < minLength) return refuse(`A password has at least ${minLength} characters.`)
  if (terminal && (await terminal.askSecret('The same again: ')) !== password)
    return refuse('The two passwords differ.')
  process.stdout.write(`${await new Passwords().hash(password)}\n`)
  return 0
}

const firstLine = (lines: string): string => lines.replace(/\r?\n.*$/s, '')

const refuse = (reason: string): number => {
  process.stderr.write(`trunkline: ${reason}\n`)
  return invalid
}
