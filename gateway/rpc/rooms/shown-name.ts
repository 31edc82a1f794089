import type { RoomMember } from '../../rooms/room-types.ts'

/** Minimum number of digits of a telephone number that is masked; a shorter one is an extension. */
const minDigits = 7
/** Maximum number of digits that a guest sees at the beginning, and number of those at the end. */
const maxFirstDigits = 4
const lastDigits = 2

/**
 * Returns the name of a member as a viewer sees it. Guests see the numbers of telephones masked, such as
 * `+4930***56`: at least four digits are missing. An extension without a name is `Phone`. `isGuest`: whether
 * the viewer has no account.
 */
export const shownName = (
  { name, isPhone }: Pick<RoomMember, 'name' | 'isPhone'>,
  isGuest: boolean,
): string => {
  if (!isGuest || !isPhone) return name
  if (/^[\d+*#]+$/.test(name) && digitsOf(name).length < minDigits) return 'Phone'
  return name.replace(/[\d+()./ -]+/g, masked)
}

const masked = (run: string): string => {
  const digits = digitsOf(run)
  if (digits.length < minDigits) return run
  const first = digits.slice(0, Math.min(maxFirstDigits, digits.length - lastDigits - 4))
  const [before] = /^ */.exec(run) ?? ['']
  const after = run.endsWith(' ') ? ' ' : ''
  return `${before}${run.includes('+') ? '+' : ''}${first}***${digits.slice(-lastDigits)}${after}`
}

const digitsOf = (text: string): string => text.replace(/\D/g, '')
