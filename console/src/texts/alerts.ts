/** Language of the page. */
export type Language = 'en' | 'de'

/** Texts of notifications, which the service worker shows too. */
export const alertTexts = {
  en: {
    incomingCall: 'Incoming call',
    incomingVideoCall: 'Incoming video call',
    missedCall: 'Missed call',
    answer: 'Answer',
    decline: 'Decline',
    unknownNumber: 'Unknown number',
  },
  de: {
    incomingCall: 'Eingehender Anruf',
    incomingVideoCall: 'Eingehender Videoanruf',
    missedCall: 'Verpasster Anruf',
    answer: 'Annehmen',
    decline: 'Ablehnen',
    unknownNumber: 'Unbekannte Nummer',
  },
} as const

/** Texts of notifications in one language. */
export type AlertTexts = { readonly [Key in keyof (typeof alertTexts)['en']]: string }
