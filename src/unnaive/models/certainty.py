"""Certainty that every model has: credible intervals, prediction sets, abstention.

The functions are methods of :class:`~unnaive.models.Classifier`; what they need loads when asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive.models.abstain import Decisions
    from unnaive.models.classifier import Classifier
    from unnaive.models.intervals import Intervals
    from unnaive.models.sets import PredictionSets


def predict_interval(
    self: Classifier,
    X: object,
    level: float = 0.9,
    *,
    method: str = "auto",
    structure: str = "given",
    training: tuple[Any, ...] | None = None,
    draws: int = 400,
    random_state: int = 0,
) -> Intervals:
    r"""Compute credible intervals of the posterior probabilities P(c | x) of samples.

    A prediction of 82 % may come from 9 training samples or from 900. Given the counts and the
    smoothing, every line of a table is Dirichlet-distributed, so the log joint of each class has an
    exact mean, variance and third central moment, and so have the log odds of two classes. The
    interval is that of a gamma distribution with these moments, in the log odds; for more
    classes, the logarithm of the sum of the others' joints is integrated numerically. Counts of a
    few samples make the distribution skewed: it reaches further towards "less probable".
    ``predict_proba`` uses the mean of every table, so it lies inside the interval, near its median;
    with few samples the median is more extreme than the mean.

    The interval answers: what would ``predict_proba`` be, had the model seen many more samples,
    if its structure is right? Structure, bins, learned weights and calibration are taken as given,
    and sample weights count as numbers of samples. ``structure="bootstrap"`` includes them.

    ===========================================  ================================================
    Models                                       ``method="auto"``
    ===========================================  ================================================
    Products of one entry of each table: NB,     "delta": exact moments from one more look-up;
    SPODE, TAN, KDB, GNB, groups, trees          points of the log joints' distributions for samples
                                                 of more than two classes in which a log joint has
                                                 a variance above 25
    BayesNet                                     "sample" of independent Dirichlet lines
    Averages and weights: AODE, A2DE, HNB,       "sample" with shared deviations, since tables of
    PHNB, ATAN, WeightedBayes                    the same samples err together
    Gaussian models                              "sample" of means and covariances
    AutoBayes                                    weighted mean of the members' quantiles
    Tuned by a search: IENB, iterative Bayes     only ``structure="bootstrap"``
    ===========================================  ================================================

    Parameters
    ----------
    X : array or table of shape (n, d), list of mappings
        Samples.
    level : float, default=0.9
        Probability of the interval, between 0 and 1.
    method : {"auto", "delta", "sample"}, default="auto"
        "delta": moments in closed form; "sample": quantiles of the predictions of random tables.
        The two agree to the error of 400 draws, except as said above.
    structure : {"given", "bootstrap"}, default="given"
        "bootstrap": quantiles of the predictions of models that are fitted anew, each with random
        exponential weights of the training samples (the Bayesian bootstrap).
    training : tuple (X, y) or (X, y, sample_weight), default=None
        The training samples, for ``structure="bootstrap"``; a model keeps only their counts.
    draws : int, default=400
        Number of random tables, points or refits.
    random_state : int, default=0
        Random seed.

    Returns
    -------
    Intervals
        ``lower``, ``median`` and ``upper``, each of shape (n, k).

    References
    ----------
    Rubin, "The Bayesian bootstrap", Annals of Statistics 9, 1981.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> few, many = [["a"], ["a"], ["b"], ["b"]], [["a"], ["a"], ["b"], ["b"]] * 50
    >>> for X in (few, many):
    ...     model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"] * (len(X) // 4))
    ...     print(model.predict_interval([["a"]]).text(0, 0))
    79 % (34-99 %)
    99 % (97 % to > 99 %)
    """
    from unnaive.models.intervals import interval_of  # noqa: PLC0415 - loads when asked

    return interval_of(
        self,
        X,
        level,
        method=method,
        structure=structure,
        training=training,
        draws=draws,
        random_state=random_state,
    )


def predict_set(
    self: Classifier,
    X: object,
    coverage: float = 0.9,
    *,
    training: tuple[Any, ...] | None = None,
    conformity: str = "lac",
    by_class: bool = False,
) -> PredictionSets:
    """Predict sets of classes that contain the true class with a stated probability.

    With the training samples, the sets are calibrated by leave-one-out: no sample is given up.
    Bins and structure are learned five times, each time without a fifth of the samples, so that no
    sample has a say in those that it is scored by. Without training samples, the sets are the most
    probable classes that together have the probability ``coverage`` by the model itself, which
    holds if the model is calibrated. :class:`~unnaive.ConformalClassifier` keeps the scores, so
    that it predicts and is saved without the samples, and has other ways of calibration.

    What is guaranteed: as for the jackknife, nothing for a finite number of samples; 90.1 % were
    covered for 90 % on average on 34 data sets. ``ConformalClassifier(model, method="split")`` has
    a guarantee.

    Parameters
    ----------
    X : array or table of shape (n, d), list of mappings
        Samples.
    coverage : float, default=0.9
        Share of samples whose set is to contain the true class.
    training : tuple (X, y) or (X, y, sample_weight), default=None
        The samples that the model was fitted to; a model keeps only their counts.
    conformity : {"lac", "aps", "raps"}, default="lac"
        How badly a class fits a sample, see :class:`~unnaive.ConformalClassifier`.
    by_class : bool, default=False
        Whether the coverage holds in every class by itself.

    Returns
    -------
    PredictionSets
        Which classes are in the set of every sample.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 10, ["ill", "ill", "well", "ill"] * 10
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict_set([["b"]], training=(X, y)).labels(0)
    ['ill', 'well']
    """
    from unnaive.models.sets import set_of  # noqa: PLC0415 - loads when asked

    return set_of(self, X, coverage, training, conformity, by_class=by_class)


def predict_or_abstain(
    self: Classifier,
    X: object,
    by: str = "cost",
    *,
    cost: float = 0.1,
    costs: ArrayLike | None = None,
    level: float = 0.9,
    threshold: float = 0.5,
    coverage: float = 0.9,
    training: tuple[Any, ...] | None = None,
) -> Decisions:
    r"""Predict the class of every sample, or abstain where that is better.

    ``predict`` always returns one of ``classes_``, as scikit-learn requires: its arrays of labels
    cannot hold "no answer", and scorers would count it as an error. So abstention is a method of
    its own.

    Parameters
    ----------
    X : array or table of shape (n, d), list of mappings
        Samples.
    by : {"cost", "interval", "set"}, default="cost"
        "cost": Chow's rule, abstain if the expected cost of the best answer is above ``cost``; with
        costs of 1 for every error, if :math:`\max_c P(c | x) < 1 - \mathrm{cost}`. "interval":
        abstain if the interval of the best class's probability contains ``threshold``. "set":
        abstain unless the prediction set has exactly one class.
    cost : float, default=0.1
        Cost of abstaining, where an error costs 1.
    costs : array of shape (k, k), default=None
        Cost of answering the class of the column if that of the line is true.
    level : float, default=0.9
        Probability of the interval, see ``predict_interval``.
    threshold : float, default=0.5
        Probability from which on a class is to be answered, for ``by="interval"``.
    coverage : float, default=0.9
        Coverage of the set, see ``predict_set``.
    training : tuple (X, y), default=None
        The training samples, by which sets are calibrated.

    Returns
    -------
    Decisions
        ``chosen`` and ``answered`` of every sample; ``labels()`` lists the answers.

    References
    ----------
    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 10, ["ill", "ill", "well", "ill"] * 10
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict_or_abstain([["a"], ["b"]], by="interval").labels()
    ['ill', None]
    """
    from unnaive.models.abstain import decide  # noqa: PLC0415 - loads when asked

    return decide(
        self,
        X,
        by,
        cost=cost,
        costs=costs,
        level=level,
        threshold=threshold,
        coverage=coverage,
        training=training,
    )
