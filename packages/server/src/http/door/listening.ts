/** An address to listen on, with the settings that name it. */
export interface ListenedAddress {
  readonly host: string;
  readonly port: number;
  readonly hostVariable: string;
  readonly portVariable: string;
}

/** If the service cannot listen on the address, returns an error that says which setting to change. Returns any other error as it is. */
export function explainListening(cause: unknown, { host, port, hostVariable, portVariable }: ListenedAddress): unknown {
  switch (cause instanceof Error && "code" in cause ? cause.code : undefined) {
    case "EADDRINUSE":
      return new Error(
        `Port ${port} is taken. Stop the program that listens there, or choose another port with ${portVariable}.`,
        { cause },
      );
    case "EACCES":
      return new Error(`This user may not listen on port ${port}. Choose a port above 1023 with ${portVariable}.`, {
        cause,
      });
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new Error(
        `${hostVariable} is "${host}", which is not an address of this machine. Name one of its addresses, or 0.0.0.0 for all.`,
        { cause },
      );
    default:
      return cause;
  }
}
