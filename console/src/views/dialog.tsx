import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { IconButton } from './parts.tsx'

/** Properties of a {@link Dialog}. */
export interface DialogProps {
  readonly title: string
  readonly testId: string
  readonly close: () => void
  readonly children: ComponentChildren
}

/**
 * Modal dialog. The browser keeps the focus inside, and returns it afterwards.
 *
 * Once its code is loaded, no key is lost while it opens or closes. It is shown in the task that renders
 * it. Escape closes it by the event `cancel`, before the focus returns; `close` comes in a later task. The
 * late `close` of a removed dialog is ignored, because it would close the next one.
 */
export const Dialog = ({ title, testId, close, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => opened?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={`${testId}-title`}
      data-testid={testId}
      onCancel={close}
      onClose={(event) => event.currentTarget.isConnected && close()}
      {...{ closedby: 'any' }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={`${testId}-title`}>{title}</h2>
          <IconButton icon="close" label={texts.value.close} press={close} testId={`${testId}-close`} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
