"""Writes pipelines of scikit-learn as skl2onnx exports them by default (labels as strings, probabilities as maps), with ONNX Runtime's
results: python export_sklearn_cases.py OUT_DIR, in the form export_cases.py describes. Maps are written as the matrix of their values.
"""
import sys
import warnings

import export_cases

ROWS = 25


def pipelines(np, X, y):
    """(name, model fitted, whether labels are text) for features X and classes y."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    two = y < 2
    regression = X[:, 0] * 2 + np.sin(X[:, 1])
    yield "logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(X, names)
    yield "logistic_two", LogisticRegression(max_iter=500).fit(X[two], names[two])
    yield "logistic_numbers", LogisticRegression(max_iter=500).fit(X, y + 5)
    for kernel in ("rbf", "linear", "poly", "sigmoid"):
        yield "svc_probability_" + kernel, SVC(kernel=kernel, probability=True, random_state=0).fit(X, names)
    yield "svc_probability_two", SVC(probability=True, random_state=0).fit(X[two], names[two])
    yield "svc", SVC().fit(X, names)
    yield "svc_two", SVC().fit(X[two], names[two])
    yield "svr", SVR().fit(X, regression)
    yield "forest", RandomForestClassifier(20, random_state=0).fit(X, names)
    yield "boosting", GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, names)
    yield "boosting_two", GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X[two], names[two])
    yield "neighbours", KNeighborsClassifier().fit(X, names)
    yield "pca_ridge", make_pipeline(StandardScaler(), PCA(2), Ridge()).fit(X, regression)
    yield "mlp", MLPClassifier((16, ), max_iter=300, random_state=0).fit(X, names)
    yield "naive_bayes", GaussianNB().fit(X, names)
    yield "kmeans", KMeans(3, random_state=0, n_init=3).fit(X)


def column_pipeline(np, X, y):
    """Numbers and texts side by side: the model and its inputs by name."""
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    rng = np.random.RandomState(0)
    texts = np.array([["red", "S"], ["green", "M"], ["blue", "L"]])
    columns = [X[:, :1], X[:, 1:2], texts[rng.randint(0, 3, len(X)), 0][:, None], texts[rng.randint(0, 3, len(X)), 1][:, None]]
    table = np.concatenate([c.astype(object) for c in columns], 1)
    columns[2][1] = "orange"  # a category that the model does not know
    encode = ColumnTransformer([("numbers", StandardScaler(), [0, 1]), ("texts", OneHotEncoder(handle_unknown="ignore"), [2, 3])])
    return make_pipeline(encode, LogisticRegression(max_iter=500)).fit(table, np.array(["no", "yes"])[y % 2]), columns


def make_case(name, model, feeds, np, ort):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = []
    for value in session.run(None, feeds):
        is_map = isinstance(value, list) and isinstance(value[0], dict)
        results.append(np.array([list(row.values()) for row in value], np.float32) if is_map else value)

    class Case:
        pass

    made = Case()
    made.name, made.model, made.rtol, made.atol = name, model, 1e-3, 2e-5
    made.data_sets = [(list(feeds.values()), results)]
    made.options = [" ".join(["shape", n] + [str(d) for d in v.shape]) for n, v in feeds.items()]
    return made


def main(out):
    try:
        import numpy as np
        import onnx
        import onnxruntime
        import sklearn.datasets
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    except ImportError as e:
        print("skipped: the Python package is missing: %s" % e)
        return 77
    warnings.simplefilter("ignore")
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    X = X.astype(np.float32)
    some = np.ascontiguousarray(X[::len(X) // ROWS][:ROWS])
    cases = [make_case(name, to_onnx(m, X[:1]), {"X": some}, np, onnxruntime) for name, m in pipelines(np, X, y)]
    model, columns = column_pipeline(np, X, y)
    types = [("a", FloatTensorType([None, 1])), ("b", FloatTensorType([None, 1])), ("colour", StringTensorType([None, 1])),
             ("size", StringTensorType([None, 1]))]
    feeds = {t[0]: c[:ROWS] if c.dtype == np.float32 else c[:ROWS].astype(object) for t, c in zip(types, columns)}
    cases.append(make_case("columns", to_onnx(model, initial_types=types), feeds, np, onnxruntime))
    return export_cases.export(out, cases, onnx, np, all_plain=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
