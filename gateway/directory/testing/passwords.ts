import { hkdfSync } from 'node:crypto'
import { Passwords } from '../writing/passwords.ts'

/**
 * Hashes passwords and knows them again, without what makes that slow on purpose: to open a directory took
 * tests most of their time by it.
 */
export const quickPasswords = (): Passwords =>
  new Passwords(async (password, salt, length) => Buffer.from(hkdfSync('sha256', password, salt, '', length)))
