import { useEffect, useInsertionEffect, useState, useSyncExternalStore } from 'react'
import {
  identityOf,
  type MakeClient,
  type SignalWireConnection,
  type SignalWireOptions,
  SignIn,
} from './sign-in.ts'

/** Creates {@link useSignalWire} with clients from `make`: tests pass their own. */
export const signalWireHook =
  (make: MakeClient) =>
  (options: SignalWireOptions): SignalWireConnection => {
    const [signIn] = useState(() => new SignIn(make))
    const { token } = options
    const identity = identityOf(options)
    useInsertionEffect(() => {
      signIn.options = options
    })
    useEffect(() => signIn.hold(identity, token), [signIn, identity, token])
    const view = useSyncExternalStore(signIn.subscribe, signIn.view, signIn.view)
    return view === signIn.idle && token ? signIn.pending : view
  }
