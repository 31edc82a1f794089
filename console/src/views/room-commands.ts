import { ClientError } from '@trunkline/client'
import type { Phone } from '../phone.ts'
import { roomTexts } from '../texts/room.ts'

/** Runs a command on a room. Never rejects: a failure is shown to the user. */
export const runCommand = async (phone: Pick<Phone, 'warn'>, command: () => Promise<void>): Promise<void> => {
  try {
    await command()
  } catch (error) {
    const code = error instanceof ClientError ? error.code : undefined
    // The member has left, or the room has ended meanwhile.
    if (code === 'unknown_member' || code === 'bad_state') return
    phone.warn(() => (code === 'no_capability' ? roomTexts().refused : roomTexts().failed))
  }
}
