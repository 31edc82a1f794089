import type { CallControl, CallInfo, DetectResult } from '../../handlers/verbs.ts'
import type { CallRow } from '../records/types.ts'
import type { CallOrder } from './types.ts'

/** Who answered, as documents are told, and as the call's row has it where it is known. */
export interface AnsweredBy {
  readonly told: NonNullable<CallInfo['answeredBy']>
  readonly row?: NonNullable<CallRow['answeredBy']>
}

/** Listens to who answered, and for the end of a machine's greeting where that is wanted. */
export const detected = async (
  call: CallControl,
  { waitForMessageEnd, timeoutMs }: NonNullable<CallOrder['detect']>,
): Promise<AnsweredBy> => {
  const result = await call.detect({ machine: { waitForEnd: waitForMessageEnd }, timeoutMs })
  if (result.kind === 'human') return { told: 'human', row: 'human' }
  if (result.kind !== 'machine') return { told: 'unknown' }
  return { told: waitForMessageEnd ? endedBy(result) : 'machine_start', row: 'machine' }
}

const endedBy = ({ beep }: DetectResult): AnsweredBy['told'] =>
  beep ? 'machine_end_beep' : 'machine_end_silence'
