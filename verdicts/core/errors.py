"""What can go wrong outside, each with its handling.

OracleError
  ModelError
    ModelBusy         try again: the queue comes back
      ModelFull         its quota is full and others wait for it already: as if never asked
    ModelRefused      never again: the order fails, staff are told
    ModelRetired      never again with this model: operators are told once
  PaymentError
    PaymentsBusy      try later: 503
    UnknownSession    Stripe does not know it: 404
    PaymentRefused    Stripe will not have the request as it is: operators
    AlreadyRefunded   all of it was paid back before: as good as done
    BadSignature      not from Stripe: 400
    BadEvent          signed, but not of the shape of an event: 400
  CaseTaken           somebody else is at it, or has done it: told to whoever asked
    RefundedMeanwhile   the money is back all the same
  CannotResend        there is nothing to send again, or it is being done: likewise
  MailError
    MailRefused       not taken: try again, not before `retry_after` seconds
    MailUncertain     taken or not, nobody can tell: the Message-ID decides
  SiteAway            a running site, or the sandbox, gives no answer: whoever tests it is told
"""


class OracleError(Exception):
    """Root of what the gateways raise. Messages carry no customer's text and no key."""


class ModelError(OracleError):
    pass


class ModelBusy(ModelError):
    pass


class ModelFull(ModelBusy):
    pass


class ModelRefused(ModelError):
    pass


class ModelRetired(ModelError):
    pass


class PaymentError(OracleError):
    pass


class PaymentsBusy(PaymentError):
    pass


class UnknownSession(PaymentError):
    pass


class PaymentRefused(PaymentError):
    pass


class AlreadyRefunded(PaymentError):
    pass


class BadSignature(PaymentError):
    pass


class BadEvent(PaymentError):
    pass


class CaseTaken(OracleError):
    pass


class RefundedMeanwhile(CaseTaken):
    pass


class CannotResend(OracleError):
    pass


class MailError(OracleError):
    pass


class MailRefused(MailError):
    def __init__(self, sentence: str, *, retry_after: float = 0) -> None:
        super().__init__(sentence)
        self.retry_after = retry_after


class MailUncertain(MailError):
    pass


class SiteAway(OracleError):
    pass
