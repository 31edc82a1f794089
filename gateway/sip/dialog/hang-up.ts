import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { reasonHeader } from '../headers.ts'
import type { SipDialog } from '../srf.ts'

/** Hangs up a dialog that no leg owns. `done` is called at the peer's response, or if no BYE can be sent. */
export const hangUp = (
  dialog: Pick<SipDialog, 'destroy'>,
  cause: Cause,
  log: Pick<Log, 'debug'>,
  done: () => void = () => {},
): void => {
  try {
    dialog.destroy({ headers: { Reason: reasonHeader(cause) } }, () => done())
  } catch (error) {
    log.debug({ reason: String(error) }, 'BYE not sent')
    done()
  }
}
