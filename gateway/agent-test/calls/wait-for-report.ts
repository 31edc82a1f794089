import type { Clock } from '../../core/clock.ts'
import type { CallWebhooks } from '../target/function-server.ts'
import { joinedFacts, type ReportFacts, readReport } from './call-report.ts'

/** Longest wait for the report after the end of a call, in ms. */
const maxReportMs = 15_000
/** Maximum time from the end of the last conversation to that of the call, in ms. */
const maxAfterMs = 1000

/** Waits of {@link waitForReport}. */
export interface ReportWait {
  /** Duration of the call in ms. */
  readonly callMs: number
  readonly clock: Clock
  /** Ends the wait at once. */
  readonly signal: AbortSignal
}

/**
 * Waits for the report of the conversation that lasted to the end of a call, at most 15 s. Resolves with its
 * facts, after those of earlier conversations of the call; undefined if no report came.
 */
export const waitForReport = async (
  webhooks: CallWebhooks,
  { callMs, clock, signal }: ReportWait,
): Promise<ReportFacts | undefined> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onReport = (): void => {
    const isLast = ({ endMs }: ReportFacts): boolean => endMs === undefined || endMs >= callMs - maxAfterMs
    if (webhooks.reports.map(readReport).some(isLast)) resolve()
  }
  const stop = (): void => resolve()
  const timer = clock.after(maxReportMs, stop)
  signal.addEventListener('abort', stop)
  webhooks.onReport(onReport)
  onReport()
  if (signal.aborted) stop()
  await promise
  timer.cancel()
  signal.removeEventListener('abort', stop)
  const { reports } = webhooks
  return reports.length === 0 ? undefined : joinedFacts(reports.map(readReport))
}
