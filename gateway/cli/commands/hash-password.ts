import { defineCommand } from '../command.ts'

/** `trunkline hash-password`. */
export const hashPassword = defineCommand({
  name: 'hash-password',
  group: 'Keys',
  summary: "hash a subscriber's password for the configuration",
  description:
    'Asks for a password without showing it, or reads one line from the standard input. Prints a hash that ' +
    '`subscribers[].password` accepts. SIP endpoints need the password itself, as digest access requires it.',
  arguments: {},
  options: {},
  examples: [
    { line: 'hash-password', effect: 'asks for the password twice' },
    { line: 'hash-password < password.txt', effect: 'hashes the first line of a file' },
  ],
  exitCodes: { 0: 'the hash is printed', 2: 'the password is too short, or the two differ' },
  run: async () => (await import('../hash-password-command.ts')).printPasswordHash(),
})
