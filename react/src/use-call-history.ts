import type { CallRecord, Client, ClientError, HistoryOptions, Paged } from '@trunkline/client'
import { useCallback, useEffect, useState } from 'react'

/** Options of {@link useCallHistory}: those of `client.history.getCalls()` without `since`. */
export type CallHistoryOptions = Pick<HistoryOptions, 'result' | 'pageSize'>

/** Result of {@link useCallHistory}. */
export interface CallHistoryView {
  /** Calls that were fetched, the newest first. */
  readonly calls: readonly CallRecord[]
  /** Whether there are older calls. */
  readonly hasMore: boolean
  /** Fetches the next older calls. */
  readonly more: () => void
  /** Reason for which the last request failed. */
  readonly error: ClientError | undefined
}

interface Fetched {
  readonly client: Client | undefined
  readonly calls: readonly CallRecord[]
  readonly last: Paged<CallRecord> | undefined
  readonly error: ClientError | undefined
}

const nothing: Fetched = { client: undefined, calls: [], last: undefined, error: undefined }

/**
 * Returns the ended calls of the subscriber, and fetches them again after each new call. Older pages must
 * then be requested again. Empty without a client.
 */
export const useCallHistory = (
  client: Client | undefined,
  { result, pageSize }: CallHistoryOptions = {},
): CallHistoryView => {
  const [fetched, setFetched] = useState<Fetched>(nothing)
  useEffect(() => {
    if (!client) return
    let isCurrent = true
    const failed = (error: ClientError) => {
      if (isCurrent) setFetched((before) => ({ ...before, error }))
    }
    const refresh = () => {
      client.history.getCalls({ result, pageSize }).then((page) => {
        if (isCurrent) setFetched({ client, calls: page.data, last: page, error: undefined })
      }, failed)
    }
    const changes = client.history.subscribe(refresh)
    refresh()
    return () => {
      isCurrent = false
      changes.unsubscribe()
      setFetched(nothing)
    }
  }, [client, result, pageSize])
  const { last } = fetched
  const more = useCallback(() => {
    last?.nextPage().then(
      (page) =>
        setFetched((before) =>
          // Another page has arrived meanwhile.
          page && before.last === last
            ? { ...before, calls: [...before.calls, ...page.data], last: page, error: undefined }
            : before,
        ),
      (error: ClientError) => setFetched((before) => (before.last === last ? { ...before, error } : before)),
    )
  }, [last])
  return { calls: fetched.calls, hasMore: last?.hasNext === true, more, error: fetched.error }
}
